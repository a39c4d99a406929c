import { refusals } from '#/errors.ts'

/** `Number` alone would accept `1e3`, `0x10` and the empty text. @throws {Refusal} 404 for what cannot be an id */
export function readId(text: string, what: 'user' | 'container' | 'session'): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.notFound(what)
  return Number(text)
}
