import { languages, type Language } from '@berth/api/boot.ts'
import { createTranslator, type AbstractIntlMessages } from 'use-intl/core'
import { en, type Catalogue } from './english.ts'
import { de } from './german.ts'
import { LocalizedMessage, type MessageKey, type Value } from './localized-message.ts'

const catalogues: Readonly<Record<Language, Catalogue>> = { en, de }

type Translate = (key: MessageKey, values: Record<string, string | number>) => string

const translators = Object.fromEntries(
  languages.map((language) => [language, translatorFor(language)] as const),
) as Readonly<Record<Language, Translate>>

/**
 * What was said of messages without values, which are most refusals: formatting one takes longer than all else about
 * it.
 */
const plain = new Map<string, string>()

/** Says a message in a language. @throws {Error} when a value is missing, which types and tests rule out */
export function localize(language: Language, message: LocalizedMessage): string {
  for (const _ in message.values) return localizeWith(language, message)
  const name = `${language} ${message.key}`
  const known = plain.get(name) ?? localizeWith(language, message)
  plain.set(name, known)
  return known
}

/** Says a message in every language, for a reader who is known to another process. @throws {Error} as `localize` */
export const localizeInAll = (message: LocalizedMessage): Readonly<Record<Language, string>> => ({
  en: localize('en', message),
  de: localize('de', message),
})

function localizeWith(language: Language, { key, values }: LocalizedMessage): string {
  const localized = Object.entries(values).map(([name, value]) => [name, valueIn(language, value)] as const)
  return translators[language](key, Object.fromEntries(localized))
}

const valueIn = (language: Language, value: Value) =>
  value instanceof LocalizedMessage ? localize(language, value) : value

function translatorFor(locale: Language): Translate {
  const messages = catalogues[locale] as unknown as AbstractIntlMessages
  const onError = (error: Error) => {
    throw error
  }
  return createTranslator({ locale, messages, timeZone: 'UTC', onError }) as Translate
}
