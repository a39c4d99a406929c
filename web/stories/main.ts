import type { BootData } from '@berth/api/boot.ts'
import { fakeFetch, unanswered } from './fake-api.ts'
import { stories } from './stories.ts'
import type { Story } from './story.ts'

const asked = new URLSearchParams(location.search)
const story = stories.find(({ name }) => name === asked.get('story'))
if (story) await open(story)
else list()

/** Opens the page as the server would have, at the story's address and with its answers. */
async function open(chosen: Story): Promise<void> {
  const boot: BootData = {
    csrf: 'proof',
    visit: 'proof',
    signed_in: true,
    is_admin: false,
    language: asked.get('language') === 'de' ? 'de' : 'en',
    contact: null,
    acting: null,
    asked_here: false,
    ...chosen.boot,
  }
  const element = document.getElementById('boot')
  if (!element) throw new Error('index.html has no element with the id "boot"')
  element.textContent = JSON.stringify(boot)
  document.documentElement.lang = boot.language
  history.replaceState(chosen.state ?? null, '', chosen.path)
  window.fetch = fakeFetch(chosen)
  Object.assign(window, { unanswered })
  await import('#/main.tsx')
}

/** For who looks by hand. */
function list(): void {
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
