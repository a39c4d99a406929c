import type { Words } from '#/messages/words.ts'

export const dashboard: Words['dashboard'] = {}
