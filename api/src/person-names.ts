/** Names of persons in lists, as pages and the command line read them; a page that reads a list loads no schemas. */

/** Max length of the name of a member, in characters. */
export const maxNameLength = 100

/** Headings of columns of names; `Name` beside a first name is the family's. */
const wholeName = /^(full |display ?)?name$|^(vor- und nachname|vollständiger name|schüler(in|:in)?|student(in)?)$/i
const familyName = /^(last|family|sur)[ -_]?name$|^(nach|familien)name$/i
const firstName = /^(first|given|fore)[ -_]?name$|^(vor|ruf)name$/i

/** Which columns of a table have a name, the first name before the family's; none when no heading means one. */
export function nameColumnsIn(headings: readonly string[]): number[] {
  const at = (pattern: RegExp) => headings.findIndex((heading) => pattern.test(heading))
  const family = at(familyName)
  return [at(firstName), family === -1 ? at(wholeName) : family].filter((column) => column !== -1)
}

/** As the API takes a name: one line, without characters that set the direction of text. An address is none: empty. */
export const cleanName = (name: string): string =>
  name.includes('@')
    ? ''
    : name
        .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\s]+/gu, ' ')
        .trim()
        .slice(0, maxNameLength)
        .trim()
