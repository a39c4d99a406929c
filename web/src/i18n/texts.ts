import { languages, type Language } from '@berth/api/boot.ts'

/** What is said in each language. ICU message syntax (unicode-org.github.io/icu/userguide/format_parse/messages). */
export type Text = readonly [en: string, de: string]

/** A catalogue: texts by key, each in every language, so that none is forgotten where another is written. */
export interface Texts {
  readonly [key: string]: Text | Texts
}

/** A catalogue in English, by which `t('…')` knows its keys and the values that a text names. */
export type InEnglish<T> = { readonly [K in keyof T]: T[K] extends readonly [infer E, string] ? E : InEnglish<T[K]> }

/** A catalogue in one language, as use-intl takes it. */
export function inLanguage<T extends Texts>(texts: T, language: Language): InEnglish<T> {
  const at = languages.indexOf(language)
  const said = (text: Text | Texts) => (Array.isArray(text) ? text[at] : inLanguage(text as Texts, language))
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, said(text)])) as InEnglish<T>
}
