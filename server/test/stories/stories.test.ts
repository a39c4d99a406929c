// Part of npm run test:more: what pages look like; the journeys and every-page.test.ts open them in a real Berth.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isFirefox } from '#test/support/browser.ts'
import { difference } from './image-diff.ts'
import { violations } from './accessibility-checks.ts'
import { bareControls, faultsOf, openStory, overflows, phoneFaults, settle } from './story-checks.ts'
import { compare, isAccepting, leftOver, pictureOf, shoot } from './screenshots.ts'
import { startStoryServer, tabs } from './story-server.ts'

/**
 * Every page of the front end in every state, without a server, with the content security policy of the server's
 * documents. `npm run stories:accept` writes the reference pictures.
 */
const stage = await startStoryServer({ after })

/**
 * All stories take three minutes, which `npm test` does not have: it runs one of each page, `npm run test:stories` and
 * `npm run stories:accept` all.
 */
const isWhole = isAccepting || process.env.BERTH_STORIES === 'all'
const ofEachPage = stage.names.filter((name, at, all) => pageOf(name) !== pageOf(all[at - 1] ?? ''))
const chosen = isWhole ? stage.names : ofEachPage

/** Timeouts in ms, of all stories, of those that are looked at on a phone, and of one, which begins when a tab is free. */
const limits = { all: 1_800_000, phones: 400_000, each: 120_000 }

describe('each story', { concurrency: tabs, timeout: limits.all }, () => {
  for (const name of chosen) {
    test(
      `${name}: passes axe, fits a width of 320 px in two languages, and matches its pictures`,
      { timeout: limits.each },
      async () => {
        const faults = await stage.withTab(async (tab) => {
          const { page } = tab
          await openStory(tab, stage.url, name)
          const found = [...(await faultsOf(tab)), ...(await violations(page))]
          found.push(...told('light', await compare(page, pictureOf(name, 'light'))))
          await page.emulateMedia({ colorScheme: 'dark' })
          await settle(page)
          found.push(...(await violations(page, ['color-contrast'])).map((each) => `dark: ${each}`))
          found.push(...told('dark', await compare(page, pictureOf(name, 'dark'))))
          return [...found, ...(await overflows(page)), ...tab.problems]
        })
        assert.deepEqual(faults, [])
      },
    )
  }
})

/** Stories of what a student, a teacher or an administrator does with a phone in the hand. */
const onPhones = /^(dashboard|groups|sharing|snapshots|sign-in|overview|users|containers|audit|usage|your-data)\//

function pageOf(name: string): string {
  return name.split('/')[0] ?? ''
}

const told = (look: string, fault: string | undefined) => (fault === undefined ? [] : [`${look}: ${fault}`])

test('letters shifted by a third of a pixel match the picture, a button moved by two pixels does not', async (t) => {
  if (isFirefox) return t.skip('of Chromium')
  await stage.withTab(async (tab) => {
    await openStory(tab, stage.url, 'sign-in/empty')
    const before = await shoot(tab.page)
    const isSameWith = async (css: string) => {
      await tab.page.evaluate((css) => {
        const sheet = new CSSStyleSheet()
        sheet.replaceSync(css)
        document.adoptedStyleSheets = [sheet]
      }, css)
      return difference(before, await shoot(tab.page)).isSame
    }
    assert.equal(await isSameWith('#root { transform: translate(0.3px, 0.3px) }'), true)
    assert.equal(await isSameWith('form button { position: relative; left: 2px }'), false)
    assert.equal(await isSameWith('form button { position: relative; top: 2px }'), false)
  })
})

test('in forced colours every button and field has a border or an underline, and the focus an outline', async (t) => {
  if (isFirefox) return t.skip('of Chromium')
  for (const name of ['sign-in/refused', 'dashboard/running', 'users/selected', 'audit/full', 'takeover/acting']) {
    await stage.withTab(async (tab) => {
      await openStory(tab, stage.url, name)
      await tab.page.emulateMedia({ forcedColors: 'active' })
      await tab.page.keyboard.press('Tab')
      assert.deepEqual(await bareControls(tab.page), [], name)
    })
  }
})

// The button that keeps a container from opening, and the last lines of a program, lay below the edge of their card.
test(
  'on a phone controls are high enough for a finger, and no card covers a part of what it says',
  { timeout: limits.phones },
  async () => {
    const names = stage.names.filter((name) => onPhones.test(name))
    const look = (name: string) =>
      stage.withTab(async (tab) => {
        await openStory(tab, stage.url, name)
        return (await phoneFaults(tab.page)).map((each) => `${name}: ${each}`)
      })
    assert.deepEqual((await Promise.all(names.map(look))).flat(), [])
  },
)

test('every picture has a story', () => {
  assert.deepEqual(leftOver(stage.names.flatMap((name) => ['light', 'dark'].map((look) => pictureOf(name, look)))), [])
})
