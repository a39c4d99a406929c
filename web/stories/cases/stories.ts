import type { Story } from '../story.ts'
import { apiTokenStories } from './api-tokens.ts'
import { containerStories } from './containers.ts'
import { dashboardStories } from './dashboard.ts'
import { environmentStories } from './environments.ts'
import { frameStories } from './frame.ts'
import { groupStories } from './groups.ts'
import { overviewStories } from './overview.ts'
import { sharingStories } from './sharing.ts'
import { snapshotStories } from './snapshots.ts'
import { termEndStories } from './term-end.ts'
import { sshStories } from './ssh.ts'
import { templateStories } from './templates.ts'
import { usageStories } from './usage.ts'
import { userStories } from './users.ts'
import { yourDataStories } from './your-data.ts'

/** Every page in every state, in the order in which users meet them. */
export const stories: readonly Story[] = [
  ...frameStories,
  ...yourDataStories,
  ...dashboardStories,
  ...overviewStories,
  ...userStories,
  ...containerStories,
  ...groupStories,
  ...termEndStories,
  ...sharingStories,
  ...snapshotStories,
  ...templateStories,
  ...environmentStories,
  ...usageStories,
  ...apiTokenStories,
  ...sshStories,
]
