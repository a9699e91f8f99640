#pragma once

/// What the headers of records need to say that there is a table of their fields; field_table.hpp has the rest.
namespace ringside {

template <typename T>
struct FieldTable;

/// The fields of T, made once. They stand in `FieldTable<T> table_of(const T*)`, beside every record and every struct inside one.
template <typename T>
const FieldTable<T>& field_table();

}  // namespace ringside
