#include "gui/view/scenario/form_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QFormLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

namespace vsim::gui {
namespace {

/// "cluster.gpus: expected ..." names the key; "parallel: fsdp 7 ..." its section first.
bool isAbout(const std::string& message, const std::string& key) {
  if (message.starts_with(key + ":") || message.starts_with(key + " ")) return true;
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos || !message.starts_with(key.substr(0, dot) + ": ")) return false;
  return message.find(" " + key.substr(dot + 1) + " ") != std::string::npos;
}

}  // namespace

FormPanel::FormPanel(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  for (const FormGroup& group : formGroups()) {
    auto* box = new QGroupBox(QString::fromStdString(group.title), this);
    auto* form = new QFormLayout(box);
    for (const FormField& field : group.fields) {
      const Field made = make(field);
      fields_[field.key] = made;
      form->addRow(QString::fromStdString(field.label), made.widget);
    }
    layout->addWidget(box);
  }
  layout->addStretch();
  alignLabels();
}

/// The fields of all groups begin at one place.
void FormPanel::alignLabels() {
  int widest = 0;
  std::vector<QWidget*> labels;
  for (QFormLayout* form : findChildren<QFormLayout*>())
    for (int row = 0; row < form->rowCount(); ++row)
      if (QLayoutItem* item = form->itemAt(row, QFormLayout::LabelRole)) labels.push_back(item->widget());
  for (QWidget* label : labels) {
    label->setMinimumWidth(0);
    widest = std::max(widest, label->sizeHint().width());
  }
  for (QWidget* label : labels) label->setMinimumWidth(widest);
}

void FormPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) alignLabels();
}

FormPanel::Field FormPanel::make(const FormField& field) {
  Field made;
  made.what = &field;
  const QString key = QString::fromStdString(field.key);
  if (field.kind == FormField::Kind::systems) {
    made.widget = new QWidget(this);
    auto* row = new QHBoxLayout(made.widget);
    row->setContentsMargins(0, 0, 0, 0);
    for (const std::string& name : field.choices) {
      auto* box = new QCheckBox(QString::fromStdString(name), made.widget);
      box->setAccessibleName("system " + box->text());
      row->addWidget(box);
      made.boxes.push_back(box);
      connect(box, &QCheckBox::clicked, this,
              [this, key] { emit edited(key, checkedSystems(fields_.at(key.toStdString()))); });
    }
    row->addStretch();
  } else if (field.kind == FormField::Kind::choice) {
    made.widget = made.choice = new QComboBox(this);
    for (const std::string& choice : field.choices) made.choice->addItem(QString::fromStdString(choice));
    made.choice->setCurrentIndex(-1);  // nothing is said before there is a scenario
    connect(made.choice, &QComboBox::activated, this,
            [this, key, box = made.choice] { emit edited(key, box->currentText()); });
  } else {
    made.widget = made.line = new QLineEdit(this);
    connect(made.line, &QLineEdit::editingFinished, this, [this, key, line = made.line] {
      if (!line->isModified()) return;
      line->setModified(false);
      emit edited(key, line->text().trimmed());
    });
  }
  made.widget->setToolTip(QString::fromStdString(field.help));
  made.widget->setAccessibleName(QString::fromStdString(field.label));
  made.widget->setObjectName("field." + key);
  return made;
}

QString FormPanel::checkedSystems(const Field& field) const {
  QStringList names;
  for (const QCheckBox* box : field.boxes)
    if (box->isChecked()) names.push_back(box->text());
  return names.join(", ");
}

void FormPanel::setValue(const std::string& key, const QString& value) {
  const auto found = fields_.find(key);
  if (found == fields_.end()) return;
  Field& field = found->second;
  if (field.line != nullptr && !field.line->isModified()) {
    field.line->setText(value);
    field.line->setModified(false);
  } else if (field.choice != nullptr) {
    const QSignalBlocker quiet(field.choice);
    if (!value.isEmpty() && field.choice->findText(value) < 0) field.choice->addItem(value);
    field.choice->setCurrentIndex(value.isEmpty() ? -1 : field.choice->findText(value));
  } else {
    const QStringList names = value.split(", ");
    for (QCheckBox* box : field.boxes) box->setChecked(names.contains(box->text()));
  }
}

QString FormPanel::value(const std::string& key) const {
  const auto found = fields_.find(key);
  if (found == fields_.end()) return {};
  const Field& field = found->second;
  if (field.line != nullptr) return field.line->text();
  return field.choice != nullptr ? field.choice->currentText() : checkedSystems(field);
}

QWidget* FormPanel::field(const std::string& key) const {
  const auto found = fields_.find(key);
  return found == fields_.end() ? nullptr : found->second.widget;
}

void FormPanel::setErrors(const core::Errors& errors, const QColor& wrong) {
  for (auto& [key, field] : fields_) {
    QString problem;
    for (const core::Error& error : errors)
      if (isAbout(error.message, key))
        problem = QString::fromStdString(error.message + (error.hint.empty() ? "" : " (" + error.hint + ")"));
    QPalette colours;  // an empty one: those of the application
    if (!problem.isEmpty())
      for (const auto role : {QPalette::Text, QPalette::ButtonText, QPalette::WindowText})
        colours.setColor(role, wrong);
    field.widget->setPalette(colours);
    field.widget->setToolTip(problem.isEmpty() ? QString::fromStdString(field.what->help) : problem);
    field.widget->setAccessibleDescription(problem);
  }
}

}  // namespace vsim::gui
