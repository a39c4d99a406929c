import { Refusal } from '#/errors.ts'
import type { Handlers } from '#/http/handlers.ts'

const notYet = () => {
  throw new Refusal(501, 'This is not made yet.')
}

/** Rows of the table whose handlers are being written; this file goes with the last of them. */
export const notYetHandlers = {
  stopOwnContainer: notYet,
  keepContainer: notYet,
  systemHistory: notYet,
  countUsers: notYet,
  listAllContainers: notYet,
  countContainers: notYet,
  bulkBlockUsers: notYet,
  bulkUnblockUsers: notYet,
  previewBlock: notYet,
  endTakeover: notYet,
} satisfies Partial<Handlers>
