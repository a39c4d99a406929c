import type { AdminWords } from '#/admin/messages/words.ts'

export const overview: AdminWords['overview'] = {}
