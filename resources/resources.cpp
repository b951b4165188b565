// SPDX-License-Identifier: GPL-3.0-or-later
// A static library needs one object of its own; the icons are linked beside it.
namespace telltale::resources {
extern const int kRevision;
const int kRevision = 1;
}
