import type { Story } from './story.ts'

export const dashboardStories: readonly Story[] = []
