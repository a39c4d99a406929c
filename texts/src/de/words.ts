import type { Translated } from '#/english.ts'

export const words: Translated<'words'> = {
  and: '{one} und {other}',
  comma: '{one}, {other}',
  semicolon: '{one}; {other}',
  nothing: '{one}{other}',
  gib: '{count, number, ::.0 group-off} GiB',
  mib: '{count} MiB',
}
