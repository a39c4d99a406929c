/** Numbers and lists inside other sentences. */
export const words = {
  and: '{one} and {other}',
  comma: '{one}, {other}',
  semicolon: '{one}; {other}',
  nothing: '{one}{other}',
  gib: '{count, number, ::.0 group-off} GiB',
  mib: '{count} MiB',
} as const
