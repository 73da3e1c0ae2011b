/** A row to insert: column name to JSON-compatible value. */
export type Row = Readonly<Record<string, unknown>>;

/** The SQL store behind the archive: chDB embedded, ClickHouse distributed; one dialect for both. */
export interface Warehouse {
  /** Runs DDL or another statement without a result. */
  command(sql: string): Promise<void>;
  /** Inserts rows as one block; a token that was inserted before (within the window) adds nothing. */
  insert(table: string, rows: readonly Row[], token: string): Promise<void>;
  /** Runs a reading statement, bounded in time; rows as objects, 64-bit integers as strings. */
  query(
    sql: string,
    options?: { readonly timeoutSeconds?: number; readonly params?: Row },
  ): Promise<readonly Row[]>;
  close(): Promise<void>;
}
