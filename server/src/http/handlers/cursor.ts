import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { ListOrder, PageCursor } from '#/store/keyset-pagination.ts'

/** Orders of lists, as in `ListOrder` of the API. */
export type SortParameter = ListOrder['by'] | `-${ListOrder['by']}`

export function toOrder(word: SortParameter): ListOrder {
  const isDescending = word.startsWith('-')
  return { by: (isDescending ? word.slice(1) : word) as ListOrder['by'], isDescending }
}

/**
 * Cursor of the next page, opaque to the client: the id alone in the order by id; in other orders also the value of the
 * column, and the order, so that a cursor of another order is refused.
 */
export function toCursor(word: SortParameter, { value, id }: PageCursor): string {
  return word === 'id' ? String(id) : Buffer.from(JSON.stringify([word, value, id])).toString('base64url')
}

/** @param cursor as matched by `Cursor` of the API @throws {Refusal} 400 when it is not from a page in this order */
export function fromCursor(word: SortParameter, cursor: string): PageCursor {
  const end = word === 'id' ? ofId(cursor) : decodeCursor(word, cursor)
  if (!end) throw refusals.badRequest(message('requests.foreignCursor'))
  return end
}

const ofId = (text: string): PageCursor | undefined =>
  /^\d{1,15}$/.test(text) ? { value: null, id: Number(text) } : undefined

function decodeCursor(word: SortParameter, text: string): PageCursor | undefined {
  const [itsWord, value, id] = asArray(Buffer.from(text, 'base64url').toString())
  if (itsWord !== word || !Number.isSafeInteger(id) || !fits(toOrder(word), value)) return undefined
  return { value, id: id as number } as PageCursor
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
