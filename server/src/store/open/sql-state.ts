/** SQLSTATE: five characters that only the server of PostgreSQL gives; without it the server did not answer. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined ? code : undefined
}
