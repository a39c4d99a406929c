import type { Environment, EnvironmentVersion } from '@berth/api/schemas/environments.ts'
import { ada, minutesAgo } from '../user-fixtures.ts'
import { namedTypes } from '../admin-list-fixtures.ts'
import { Refused, type Story } from '../story.ts'

const version = (number: number, more: Partial<EnvironmentVersion> = {}): EnvironmentVersion => ({
  version: number,
  state: 'ready',
  image_id: `sha256:${'a'.repeat(64)}`,
  size: 1_284_000_000 + number * 1e6,
  created_at: minutesAgo(60 * 24 * (8 - number)),
  error: null,
  changes: [],
  ...more,
})
const failed = { state: 'failed', image_id: null, size: null } as const
const environments: Environment[] = [
  {
    name: 'statistics',
    description: 'Python with pandas and scipy, for the first term',
    source: { base: 'python:3.13', apt: ['graphviz'], pip: ['pandas', 'scipy'], run: [] },
    group_id: 3,
    group: 'Statistics 1',
    published: 5,
    types: ['notebook', 'statistics-lab'],
    trial: {
      version: 5,
      container_type: 'try-statistics-5',
      url: 'http://berth.example/ada-try-statistics-5/',
      ends_at: minutesAgo(-50),
    },
    versions: [
      version(7, { ...failed, state: 'building' }),
      version(6, {
        ...failed,
        error:
          "The build failed: The command '/bin/sh -ec pip3 install --no-cache-dir 'scipi'' returned a non-zero code: 1",
      }),
      version(5, { changes: ['- base: python:3.12', '+ base: python:3.13', '+ pip: scipy'] }),
      version(4, { changes: null }),
    ],
  },
  {
    name: 'web-course',
    description: '',
    source: { git: 'https://git.example.org/course.git', ref: 'main', path: 'week1' },
    group_id: null,
    group: null,
    published: null,
    types: [],
    trial: null,
    versions: [version(1, { changes: null })],
  },
]
const page: Omit<Story, 'name'> = {
  path: '/environments',
  boot: { is_admin: true, email: ada.user.email, has_environments: true },
  answers: { me: ada, listContainers: namedTypes, listEnvironments: { environments, next_cursor: null } },
}

/** Images that Berth builds. */
export const environmentStories: readonly Story[] = [
  { name: 'environments/some', ...page },
  {
    name: 'environments/log',
    ...page,
    logs: [
      'Step 1/4 : FROM sha256:4fcdf213026f29b148fb999e32ad0bb53ecfe8acf7a9929fac85f1581668159e AS berth-stage-0',
      ' ---> 4fcdf213026f',
      'Step 2/4 : USER 0',
      'Collecting pandas',
      '  Downloading pandas-3.0.1-cp313-cp313-manylinux_2_17_x86_64.whl (12.1 MB)',
    ],
    press: ['LogLog of version 7 of statistics'],
  },
  {
    name: 'environments/older',
    ...page,
    answers: {
      ...page.answers,
      listOlder: {
        older: ['ben@example.org', 'cleo@example.org'].map((email, at) => ({
          container_type: 'notebook',
          user_id: at + 2,
          email,
          container_id: String(at).repeat(64),
          is_asked: at === 1,
        })),
      },
    },
    press: ['More actions for statistics', 'Older versionsWho runs an older version of statistics'],
  },
  {
    name: 'environments/none',
    ...page,
    answers: { ...page.answers, listEnvironments: { environments: [], next_cursor: null } },
  },
  {
    name: 'environments/refused',
    ...page,
    answers: {
      ...page.answers,
      checkEnvironmentSource: new Refused(
        400,
        'Line 3: "RUN --mount=type=cache,target=/root" is not possible here. Mounts, networks and platforms of steps need BuildKit; take the flag out.',
      ),
    },
    press: ['More actions for statistics', 'EditEdit the environment statistics', 'Check'],
  },
]
