import type { Language } from '@berth/api/boot.ts'

/**
 * The language as the reader's region writes it: dates in English differ between London and New York.
 * @param wanted by the browser, the first most @returns the language itself when the browser wants no kind of it
 */
export const regionalLocale = (language: Language, wanted: readonly string[]): string =>
  wanted.find((each) => each.toLowerCase().split('-')[0] === language) ?? language
