#pragma once

#include <QImage>
#include <QSize>
#include <QString>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "gui/view/view.h"

namespace vsim::gui {

enum class ExportFormat : std::uint8_t { png, svg, csv };

/// What is written of a view.
struct ExportOptions {
  ExportFormat format = ExportFormat::png;
  QSize size{1280, 800};  // logical pixels of the content
  int scale = 1;          // PNG: device pixels for each of them; 1, 2 or 4
};

/// By the file's ending; nothing: another one.
[[nodiscard]] std::optional<ExportFormat> formatOf(const QString& path);
/// "timeline-run-42.png", without characters that files cannot have.
[[nodiscard]] QString suggestedFileName(const View& view, const Session& session, ExportFormat format);

/// The view with a caption: its title and the run above, its address and the time shown below. In the
/// window's thread.
[[nodiscard]] QImage renderView(View& view, const Session& session, QSize size, int scale);
/// The same as SVG.
[[nodiscard]] QByteArray renderSvg(View& view, const Session& session, QSize size);

/// A table that was made elsewhere as CSV, at once or not at all. On any thread.
[[nodiscard]] core::Result<void> writeTable(const DataTable& table, const std::string& path);

/// Writes the file at once or not at all. Errors: the file system's, with the path; a picture that is too
/// large.
[[nodiscard]] core::Result<void> exportView(View& view, const Session& session, const ExportOptions& options,
                                            const std::string& path);

}  // namespace vsim::gui
