import { refusals } from '#/errors.ts'
import { message } from '#/messages/message.ts'

/** Rows in one answer at most. */
const largestPage = 1000

/** How many rows are asked for. @param text digits @throws {Refusal} 400 outside 1 to 1000 */
export function readLimit(text: string | undefined, otherwise = largestPage): number {
  const limit = Number(text ?? otherwise)
  if (limit < 1 || limit > largestPage) throw refusals.badRequest(message('requests.badLimit', { most: largestPage }))
  return limit
}
