import type { AdminWords } from '#/admin/messages/words.ts'

export const audit: AdminWords['audit'] = {}
