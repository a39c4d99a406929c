import type { Words } from '#/messages/words.ts'

export const signIn: Words['signIn'] = {}
