import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'

/** Max rows in one answer. */
const maxPageSize = 1000

/** Page size. @param text digits @throws {Refusal} 400 outside 1 to 1000 */
export function readLimit(text: string | undefined, defaultLimit = maxPageSize): number {
  const limit = Number(text ?? defaultLimit)
  if (limit < 1 || limit > maxPageSize) throw refusals.badRequest(message('requests.badLimit', { max: maxPageSize }))
  return limit
}

/** `Number` alone would accept `1e3`, `0x10` and the empty text. @throws {Refusal} 404 for text that is no id */
export function readId(
  text: string,
  what: 'user' | 'container' | 'session' | 'token' | 'share' | 'lookRequest',
): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.notFound(what)
  return Number(text)
}

/** As `readId`, for a member of a group. @throws {Refusal} 404 */
export function readMemberId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('member')
  return Number(text)
}

/** As `readId`, for a group. @throws {Refusal} 404 */
export function readGroupId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('group')
  return Number(text)
}
