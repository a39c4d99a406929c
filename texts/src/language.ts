import { languages, type Language } from '@berth/api/boot.ts'
import Negotiator from 'negotiator'

/** Language of requests without a preference. */
export const defaultLanguage: Language = languages[0]

/**
 * The language to answer in: the one that the user chose (cookie), else the one that the browser prefers
 * (RFC 9110, 12.5.4: `de-AT` matches `de`), else English. Both come from the client and are not trusted.
 * @param chosen         values of the cookie `spawner_language`, in the order sent
 * @param acceptLanguage value of `Accept-Language`
 */
export function languageOf(chosen: readonly string[], acceptLanguage: string | undefined): Language {
  return chosen.find(isLanguage) ?? preferredLanguage(acceptLanguage) ?? defaultLanguage
}

/** Characters of `Accept-Language` that are read; browsers send up to a hundred, best first. */
const maxAccepted = 256

function preferredLanguage(acceptLanguage: string | undefined): Language | undefined {
  if (!acceptLanguage) return undefined
  const whole = acceptLanguage.slice(0, maxAccepted)
  // What is cut off could be a weight, without which a language counts as the best.
  const read = acceptLanguage.length <= maxAccepted ? whole : whole.slice(0, Math.max(0, whole.lastIndexOf(',')))
  return new Negotiator({ headers: { 'accept-language': read } }).languages([...languages]).find(isLanguage)
}

const isLanguage = (text: string): text is Language => (languages as readonly string[]).includes(text)

/** Header of an answer in this language; none in English, which is what answers were before there was another. */
export const contentLanguage = (language: Language): { readonly 'content-language'?: string } =>
  language === defaultLanguage ? {} : { 'content-language': language }
