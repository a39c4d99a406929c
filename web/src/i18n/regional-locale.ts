import type { Language } from '@berth/api/boot.ts'

/**
 * The language with the reader's region: English dates differ between London and New York.
 * @param wanted by the browser, most preferred first @returns the language itself when the browser wants no variant of
 * it
 */
export const regionalLocale = (language: Language, wanted: readonly string[]): string =>
  wanted.find((each) => each.toLowerCase().split('-')[0] === language) ?? language
