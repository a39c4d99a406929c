import { refusals } from '#/errors.ts'
import { message } from '#/messages/localized-message.ts'

/** Rows in one answer at most. */
const maxPageSize = 1000

/** How many rows are asked for. @param text digits @throws {Refusal} 400 outside 1 to 1000 */
export function readLimit(text: string | undefined, defaultLimit = maxPageSize): number {
  const limit = Number(text ?? defaultLimit)
  if (limit < 1 || limit > maxPageSize) throw refusals.badRequest(message('requests.badLimit', { max: maxPageSize }))
  return limit
}
