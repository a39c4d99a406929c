import type { Story } from '../story.ts'
import { containerStories } from './containers.ts'
import { dashboardStories } from './dashboard.ts'
import { frameStories } from './frame.ts'
import { overviewStories } from './overview.ts'
import { userStories } from './users.ts'

/** Every page in every state worth a look, in the order in which people meet them. */
export const stories: readonly Story[] = [
  ...frameStories,
  ...dashboardStories,
  ...overviewStories,
  ...userStories,
  ...containerStories,
]
