import type { Story } from './story.ts'

export const auditStories: readonly Story[] = []
