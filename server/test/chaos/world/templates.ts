import { shellApp } from '../../support/shell-app.ts'

/**
 * The app that a run launches. It answers everything with who it is, where its home came from, and what it was asked; an
 * upgrade makes it say back what it hears. Its home's canary is written when there is none, and never again.
 */
const appAt = (home: string, more = '') =>
  shellApp(
    `{\\"base\\":\\"\${BERTH_AUDIENCE:-$BASE_PATH}\\",\\"host\\":\\"$HOSTNAME\\",\\"colour\\":\\"$COLOUR\\",\\"canary\\":\\"$(cat ${home}/canary)\\"}`,
    {
      contentType: 'application/json',
      before: `
mkdir -p ${home}/tree
for at in 1 2 3 4 5 6 7 8 9; do [ -s ${home}/tree/$at ] || head -c 20000 /dev/urandom > ${home}/tree/$at; done
[ -f ${home}/canary ] || { echo "$BASE_PATH $(cat /proc/sys/kernel/random/uuid)" > /tmp/canary; cp /tmp/canary ${home}/canary.new; mv ${home}/canary.new ${home}/canary; }${more}`,
    },
  )
const app = appAt('/home/berth')

/** Name of the file into which the apps that share a home write the lines `{type} 1`, `{type} 2` ..., each its own. */
export const commonFile = 'written'

/** An app that goes on writing into the home that it has together with another one. */
const writer = (type: string, home: string) =>
  appAt(
    home,
    `
( at=$(grep -c '^${type} ' ${home}/${commonFile} || true)
  while :; do at=$((at + 1)); echo "${type} $at" >> ${home}/${commonFile}; sleep 2; done ) &`,
  )

/** Files in the home of an app that has begun. */
export const filesOfHome = ['canary', ...Array.from({ length: 9 }, (_, index) => `tree/${index + 1}`)]

/** What an app that is well answers. */
export interface AppAnswer {
  /** `/{slug}-{type}` of the container that answers. */
  readonly base: string
  /** First twelve digits of its id. */
  readonly host: string
  /** The parameter that its container was made with; empty for a type without one. */
  readonly colour: string
  readonly canary: string
}

/** Types whose app is well. */
export const goodTypes = ['dev', 'prod'] as const
export type GoodType = (typeof goodTypes)[number]

/** The one with a parameter, which is shared, too, and the values of that, the default first. */
export const chosenType = 'dev'
export const colours = ['red', 'green', 'blue'] as const
export type Colour = (typeof colours)[number]

/** Types whose app is not: it ends at once, eats all its memory, or never listens. */
export const badTypes = ['quits', 'greedy', 'deaf'] as const
export type BadType = (typeof badTypes)[number]

/** The type of the class, which is for its members alone, and ends as soon as it is told to. */
export const groupType = 'lesson'
/** Name of the class. */
export const groupName = 'Chaos'
/** Name of a second group, of some of these people. It names the type, too, so that they keep it when the class is over. */
export const clubName = 'Club'

/** A type whose app is paused after a second without a visit. */
export const idleType = 'idler'

/**
 * Types whose apps are well and never visited: a visit would start them while their home is to be read or written. They have one home
 * together, each at its own place.
 */
export const [filesType, besideType] = ['files', 'beside'] as const

/**
 * As the image has it. Where the type whose folder the image does not have was launched first, the home was of root, the program counted
 * lines that it could not write, and once the other type was launched its next line looked as if those before it were lost.
 */
const user = '1000:1000'

/** For `CONTAINER_TEMPLATES`. */
export function chaosTemplates(image: string): string {
  const shell = (script: string, memory = '64m') => ({
    display_name: 'Chaos',
    description: 'For breaking',
    image,
    port: 8080,
    memory,
    command: ['/bin/sh', '-c', script],
  })
  return JSON.stringify({
    dev: {
      ...shell(app),
      parameters: { colour: { type: 'choice', choices: colours, default: colours[0], env: 'COLOUR' } },
    },
    prod: shell(app),
    files: { ...shell(writer(filesType, '/home/berth')), home_of: 'user', user },
    beside: { ...shell(writer(besideType, '/workspace')), home: '/workspace', home_of: 'user', user },
    idler: { ...shell(app), idle_pause: 1 },
    lesson: {
      ...shell('trap "exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.5; done'),
      groups: [groupName],
    },
    quits: shell('echo no; exit 3'),
    greedy: shell('sleep 1; tail /dev/zero', '16m'),
    deaf: shell('trap "" TERM; while :; do sleep 1; done'),
  } satisfies Record<
    GoodType | BadType | typeof idleType | typeof groupType | typeof filesType | typeof besideType,
    object
  >)
}
