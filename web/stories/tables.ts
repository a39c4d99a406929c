import type { Story } from './story.ts'

export const tableStories: readonly Story[] = []
