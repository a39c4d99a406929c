import type { BootData } from '@berth/api/boot.ts'
import { rememberEndedSession } from '#/session/login-redirect.ts'
import { fakeFetch, isRetried, unanswered } from './fake-api.ts'
import { controlTime, hurryTime, stopTime } from './picture-time.ts'
import { today } from './user-fixtures.ts'
import { press, settled } from './press.ts'
import { stories } from './cases/stories.ts'
import type { Story } from './story.ts'
import './screenshot.css'

/** `?story=` is the name; `&language=de`; `&picture` looks the same on every machine and at all times. */
const asked = new URLSearchParams(location.search)
const isPicture = asked.has('picture')
if (isPicture) {
  controlTime()
  document.documentElement.dataset.picture = ''
  // A canvas is not drawn again when a font arrives.
  await Promise.all(['400 1em Inter', '600 1em Inter'].map((font) => document.fonts.load(font)))
}
const story = stories.find(({ name }) => name === asked.get('story'))
if (story) await open(story)
else list()

/** Opens the page as the server would, at the story's URL and with its responses. */
async function open(chosen: Story): Promise<void> {
  const boot: BootData = {
    csrf: 'proof',
    visit: 'proof',
    signed_in: true,
    token_lifetime: null,
    email: 'ann@example.org',
    is_admin: false,
    has_groups: false,
    sharing: null,
    has_snapshots: false,
    has_git_links: false,
    has_ssh: false,
    has_environments: false,
    has_container_hosts: false,
    language: 'en',
    contact: null,
    acting: null,
    link_secret: null,
    asked_here: false,
    now: today,
    link_lifetime: 900,
    sign_in: { providers: [], email_link: true },
    ...chosen.boot,
  }
  const element = document.getElementById('boot')
  if (!element) throw new Error('index.html has no element with the id "boot"')
  element.textContent = JSON.stringify(boot)
  document.documentElement.lang = boot.language
  history.replaceState(chosen.state ?? null, '', chosen.path)
  window.fetch = fakeFetch(chosen)
  setOnline(chosen.isOffline !== true)
  // What the story before left in this tab: with a sign-in of it, a page for visitors would go and renew the session.
  for (const storage of [localStorage, sessionStorage]) storage.clear()
  if (chosen.ended !== undefined) rememberEndedSession({ email: chosen.ended })
  const isRetrying = isPicture && isRetried(chosen)
  if (isRetrying) hurryTime()
  await import('#/main.tsx')
  const { chooseLanguage } = await import('#/i18n/i18n-provider.tsx')
  for (const name of chosen.press ?? []) await press(name)
  if (chosen.press) await settled()
  if (isRetrying) await retriesOver()
  if (isPicture) stopTime()
  if (asked.get('language') === 'de') await chooseLanguage('de')
  // Used by tests.
  Object.assign(window, { unanswered, chooseLanguage })
  document.documentElement.dataset.story = chosen.name
}

/**
 * Chromium asks the machine: one whose only networks are those of containers counts as offline, and no longer once a
 * cable is plugged in.
 */
function setOnline(isOnline: boolean): void {
  Object.defineProperty(navigator, 'onLine', { get: () => isOnline })
  for (const name of ['online', 'offline']) addEventListener(name, (event) => event.stopImmediatePropagation())
}

/** Waits until the page has tried for the last time to get what the server does not give, at most 20 s. */
async function retriesOver(): Promise<void> {
  const { queryClient } = await import('#/api/query-client.ts')
  const hasFailed = () =>
    queryClient
      .getQueryCache()
      .getAll()
      .some(({ state }) => state.status === 'error')
  const end = performance.now() + 20_000
  while ((queryClient.isFetching() > 0 || !hasFailed()) && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

/** A list of all stories, for the developer. */
function list(): void {
  document.documentElement.dataset.today = today
  const items = stories.map(({ name }) => {
    const link = document.createElement('a')
    link.href = `?story=${name}`
    link.textContent = name
    const item = document.createElement('li')
    item.append(link)
    return item
  })
  const all = document.createElement('ul')
  all.append(...items)
  document.getElementById('root')?.append(all)
}
