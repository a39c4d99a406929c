import type { Random } from './random.ts'

/** Bytes on which parsers have disagreed. */
const pieces = [
  '\r\n',
  '\n',
  '\r',
  '\r\r\n',
  '\n\r\n',
  '\r\n\r\n',
  '\r\n ',
  '\r\n\t',
  ' ',
  '\t',
  '  ',
  '\0',
  '\x0b',
  '\x0c',
  '\x1f',
  '\x7f',
  '\x80',
  '\x85',
  '\xa0',
  '\xff',
  ':',
  ';',
  ',',
  '=',
  '"',
  '\\',
  '#',
  '%',
  '+',
  '-',
  '0',
  '0x',
  'f',
  '_',
  '.',
  '/',
  '?',
  '*',
  'a',
  'A',
  '{',
  '(',
  '\x01',
  '\x1b',
  '\xad',
]

/**
 * Changes a text in up to three places: bytes inserted, replaced, taken out, doubled, moved, the end cut off.
 * Most texts stay as they are, so that deep rules are reached too.
 */
export function mutated(text: string, random: Random, chance: number): string {
  let changed = text
  for (let round = 0; round < 3 && random.happens(chance); round++) changed = mutatedOnce(changed, random)
  return changed
}

function mutatedOnce(text: string, random: Random): string {
  const at = nearSomething(text, random)
  const [before, after] = [text.slice(0, at), text.slice(at)]
  const length = 1 + random.below(random.happens(0.7) ? 2 : 24)
  switch (random.below(8)) {
    case 0:
    case 1:
      return before + random.oneOf(pieces) + after
    case 2:
      return before + random.oneOf(pieces) + after.slice(1)
    case 3:
      return before + after.slice(length)
    case 4:
      return before + after.slice(0, length) + after
    case 5:
      return before + String.fromCharCode(random.below(256)) + after.slice(1)
    case 6: {
      const to = random.below(text.length + 1)
      const rest = before + after.slice(length)
      return rest.slice(0, to) + after.slice(0, length) + rest.slice(to)
    }
    default:
      return random.happens(0.3) ? before : before + random.oneOf(pieces) + after
  }
}

/** Places at signs are where grammars turn; a third of the time anywhere. */
function nearSomething(text: string, random: Random): number {
  const from = random.below(text.length + 1)
  if (random.happens(0.35)) return from
  const next = text.slice(from).search(/[\r\n:; ,=]/)
  return next === -1 ? from : from + next + random.below(3) - 1 < 0 ? 0 : from + next + random.below(2)
}
