#pragma once

/// What the headers of records need to say that there is a table of their fields; field_table.hpp has the rest.
namespace ringside {

template <typename T>
struct FieldTable;

/// The fields of T: specialised, beside the struct, for every record and for every struct inside a record.
template <typename T>
const FieldTable<T>& field_table();

}  // namespace ringside
