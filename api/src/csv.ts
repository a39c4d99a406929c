/** A line of CSV (RFC 4180), ended. Objects become JSON; null and undefined are empty. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`

function cell(value: unknown): string {
  if (typeof value === 'number') return String(value)
  const text = harmless(textOf(value))
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * Against CSV injection: a spreadsheet evaluates text that begins like a formula, and any client may write a reason;
 * behind an apostrophe it is text.
 * Some programs treat the wide forms of these characters the same. Source:
 * owasp.org/www-community/attacks/CSV_Injection
 */
const harmless = (text: string) =>
  /^[\s\p{Cc}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u.test(text) ? `'${text}` : text
