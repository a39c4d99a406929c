import type { Story } from './story.ts'
import { dashboardStories } from './dashboard.ts'
import { frameStories } from './frame.ts'
import { overviewStories } from './overview.ts'
import { tableStories } from './tables.ts'

/** Every page in every state worth a look, in the order in which people meet them. */
export const stories: readonly Story[] = [...frameStories, ...dashboardStories, ...overviewStories, ...tableStories]
