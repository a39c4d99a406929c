import { Refusal } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'
import { message } from '#/messages/message.ts'

const notYet = () => {
  throw new Refusal(501, message('refusals.notYet'))
}

/** Rows of the table whose handlers are being written; this file goes with the last of them. */
export const notYetHandlers = {
  systemHistory: notYet,
} satisfies Partial<Handlers>
