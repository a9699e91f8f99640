#pragma once

/// Lets headers of records say that they have a table of fields; field_table.hpp has the rest.
namespace ringside {

template <typename T>
struct FieldTable;

/// The fields of T, made once, from `FieldTable<T> table_of(const T*)` beside each record and struct.
template <typename T>
const FieldTable<T>& field_table();

}  // namespace ringside
