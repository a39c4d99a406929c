import type { Language } from '@berth/api/boot.ts'
import { faults as faultsDe, gateway as gatewayDe, pages as pagesDe } from '@berth/texts/de/gateway.ts'
import { faults, gateway, pages } from '@berth/texts/en/gateway.ts'
import { LocalizedMessage, type Value } from '@berth/texts/localized-message.ts'

type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>

const catalogues: Readonly<Record<Language, Texts>> = {
  en: { faults, gateway, pages },
  de: { faults: faultsDe, gateway: gatewayDe, pages: pagesDe },
}

/**
 * Localizes a message of the areas above, in the process that holds all connections. This formatter is our own, because a
 * library that knows plurals and dates would take 16 MB there and a tenth of a second. These areas have plain arguments
 * only, which a test holds, so that the result equals that of `texts/src/localize.ts`.
 * @throws {Error} when there is no such message, which types and tests rule out
 */
export function localize(language: Language, { key, values }: LocalizedMessage): string {
  const [area = '', name = ''] = key.split('.')
  const text = catalogues[language][area]?.[name]
  if (text === undefined) throw new Error(`the gateway has no message ${key}`)
  return text.replace(/\{(\w+)\}/g, (whole, argument: string) => valueIn(language, values[argument] ?? whole))
}

const valueIn = (language: Language, value: Value) =>
  value instanceof LocalizedMessage ? localize(language, value) : String(value)
