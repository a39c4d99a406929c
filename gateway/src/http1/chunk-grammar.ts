/**
 * States of the parser of chunks (RFC 9112, 7.1). In `size` and the five after it a chunk size line is being read. Those from
 * `firstFault` on are faults.
 */
export const chunkStates = {
  /** At the first digit of a size. */
  sizeStart: 0,
  size: 1,
  /** Behind the semicolon of an extension. */
  nameStart: 2,
  name: 3,
  /** Behind its equals sign. */
  valueStart: 4,
  value: 5,
  quoted: 6,
  /** Behind the closing quotation mark. */
  quotedEnd: 7,
  /** At the line feed behind a size line's carriage return. */
  sizeEnd: 8,
  /** Entered behind the line feed; the data is not read byte by byte. */
  data: 9,
  /** At the carriage return behind the data, and at the line feed after that. */
  dataEnd: 10,
  dataFeed: 11,
  trailers: 12,
  done: 13,
  firstFault: 14,
  /** The line is none that says a size. */
  noSize: 14,
  /** The line does not end with CRLF. */
  noCrlf: 15,
  /** Other bytes than CRLF follow the data. */
  tooLong: 16,
  /** The line is longer than allowed; it is no transition that leads here, nor to the next. */
  longLine: 17,
  /** The framing is long beside the data. */
  longFraming: 18,
} as const

/** Values of hexadecimal digits, by byte; 0 for what is none. */
export const digitValues = new Uint8Array(256)
/** The next state, by `state << 8 | byte`. */
export const transitions = new Uint8Array(chunkStates.trailers << 8).fill(chunkStates.noSize)

const digits = '0123456789ABCDEFabcdef'
/** RFC 9110, 5.6.2. */
const tokens = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
/** What a quoted string may contain (RFC 9110, 5.6.4), without backslashes, which parsers read in different ways. */
const quotable = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code))
  .filter((character) => character === '\t' || (character >= ' ' && !'"\\'.includes(character)))
  .join('')

function allow(state: number, characters: string, next: number): void {
  for (const character of characters) transitions[(state << 8) | character.charCodeAt(0)] = next
}

const { sizeStart, size, nameStart, name, valueStart, value, quoted, quotedEnd, sizeEnd, data } = chunkStates
const { dataEnd, dataFeed, noCrlf, tooLong } = chunkStates

for (const digit of digits) digitValues[digit.charCodeAt(0)] = Number.parseInt(digit, 16)
for (const state of [sizeStart, size]) allow(state, digits, size)
for (const state of [nameStart, name]) allow(state, tokens, name)
for (const state of [valueStart, value]) allow(state, tokens, value)
allow(name, '=', valueStart)
allow(valueStart, '"', quoted)
allow(quoted, quotable, quoted)
allow(quoted, '"', quotedEnd)
for (const state of [size, name, value, quotedEnd]) {
  allow(state, ';', nameStart)
  allow(state, '\r', sizeEnd)
}
for (let state = sizeStart; state < sizeEnd; state++) allow(state, '\n', noCrlf)
allow(sizeEnd, '\n', data)
for (const state of [dataEnd, dataFeed]) transitions.fill(tooLong, state << 8, (state + 1) << 8)
allow(dataEnd, '\n', noCrlf)
allow(dataEnd, '\r', dataFeed)
allow(dataFeed, '\n', sizeStart)
