import { refusals } from '#/errors.ts'
import { message } from '#/messages/message.ts'
import type { ListOrder, PageEnd } from '#/store/in-order.ts'

/** The orders of lists, as in `ListOrder` of the API. */
export type OrderWord = ListOrder['by'] | `-${ListOrder['by']}`

export function toOrder(word: OrderWord): ListOrder {
  const isDescending = word.startsWith('-')
  return { by: (isDescending ? word.slice(1) : word) as ListOrder['by'], isDescending }
}

/**
 * Where the next page begins, for the client, who passes it on unread: the id alone in the order by id, in which it always
 * was that; in any other what the list is ordered by, too, and the order, so that it is not taken for another's.
 */
export function toCursor(word: OrderWord, { value, id }: PageEnd): string {
  return word === 'id' ? String(id) : Buffer.from(JSON.stringify([word, value, id])).toString('base64url')
}

/** @param cursor as matched by `Cursor` of the API @throws {Refusal} 400 when it is not from a page in this order */
export function fromCursor(word: OrderWord, cursor: string): PageEnd {
  const end = word === 'id' ? ofId(cursor) : opaque(word, cursor)
  if (!end) throw refusals.badRequest(message('requests.foreignCursor'))
  return end
}

const ofId = (text: string): PageEnd | undefined =>
  /^\d{1,15}$/.test(text) ? { value: null, id: Number(text) } : undefined

function opaque(word: OrderWord, text: string): PageEnd | undefined {
  const [itsWord, value, id] = asArray(Buffer.from(text, 'base64url').toString())
  if (itsWord !== word || !Number.isSafeInteger(id) || !fits(toOrder(word), value)) return undefined
  return { value, id: id as number } as PageEnd
}

function asArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function fits({ by }: ListOrder, value: unknown): boolean {
  if (by === 'id') return value === null
  if (by === 'email') return typeof value === 'string'
  return Number.isSafeInteger(value) || (by === 'last_used' && value === null)
}
