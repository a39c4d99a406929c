import type { Words } from '#/messages/words.ts'

export const sessions: Words['sessions'] = {}
