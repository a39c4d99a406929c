import type { AdminWords } from '#/admin/messages/words.ts'

export const containers: AdminWords['containers'] = {}
