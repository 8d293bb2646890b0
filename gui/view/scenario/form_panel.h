#pragma once

#include <QColor>
#include <QWidget>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gui/model/scenario_form.h"

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace vsim::gui {

/// The important values of a scenario as fields. Shows what it is told and says what the user changed.
class FormPanel : public QWidget {
  Q_OBJECT
 public:
  explicit FormPanel(QWidget* parent);

  void setValue(const std::string& key, const QString& value);
  [[nodiscard]] QString value(const std::string& key) const;
  /// Marks the fields whose key a message names; the message becomes their tool tip.
  void setErrors(const core::Errors& errors, const QColor& wrong);
  /// The widget of a field, for tests and focus.
  [[nodiscard]] QWidget* field(const std::string& key) const;

 protected:
  void changeEvent(QEvent* event) override;

 signals:
  void edited(const QString& key, const QString& value);

 private:
  struct Field {
    const FormField* what = nullptr;
    QLineEdit* line = nullptr;
    QComboBox* choice = nullptr;
    std::vector<QCheckBox*> boxes;
    QWidget* widget = nullptr;
  };
  Field make(const FormField& field);
  [[nodiscard]] QString checkedSystems(const Field& field) const;
  void alignLabels();

  std::map<std::string, Field> fields_;
};

}  // namespace vsim::gui
