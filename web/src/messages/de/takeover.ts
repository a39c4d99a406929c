import type { Words } from '#/messages/words.ts'

export const takeover: Words['takeover'] = {}
