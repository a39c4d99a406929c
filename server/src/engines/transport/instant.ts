/** Time that an engine writes, in ms since 1970. @returns null for none, and for never, which Docker writes as `0001-01-01T00:00:00Z` */
export function toInstant(text: string | undefined): number | null {
  const instant = Date.parse(text ?? '')
  return instant > 0 ? instant : null
}
