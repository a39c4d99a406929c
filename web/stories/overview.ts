import type { Story } from './story.ts'

export const overviewStories: readonly Story[] = []
