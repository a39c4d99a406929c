import type { AdminWords } from '#/admin/messages/words.ts'

export const users: AdminWords['users'] = {}
