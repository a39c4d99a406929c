/** The texts for every user in each language, for types and tests: a page loads one of the two files, see `i18n-provider.tsx`. */
export { en } from './english.ts'
export { de } from './german.ts'
