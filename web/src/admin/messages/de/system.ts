import type { AdminWords } from '#/admin/messages/words.ts'

export const system: AdminWords['system'] = {}
