import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { faultsOf, openStory, overflows, settle, violations } from './look.ts'
import { compare, leftOver, pictureOf } from './pictures.ts'
import { openStage } from './stage.ts'

/**
 * Every page of the front end in every state, without a server, under the policy of the server's documents.
 * `npm run stories:accept` makes what is seen the pictures that are compared with.
 */
const stage = await openStage({ after })

describe('each story', { concurrency: true }, () => {
  for (const name of stage.names) {
    test(`${name}: nothing for axe, nothing to scroll sideways at 400 % in two languages, and as in its pictures`, async () => {
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
    })
  }
})

const told = (look: string, fault: string | undefined) => (fault === undefined ? [] : [`${look}: ${fault}`])

test('there is no picture without a story', () => {
  assert.deepEqual(leftOver(stage.names.flatMap((name) => ['light', 'dark'].map((look) => pictureOf(name, look)))), [])
})
