import { commands } from '@placet/cli';
import { expect, it } from 'vitest';
import { commandsPage, configurationPage, errorsPage, redisKeysPage } from './reference-pages.ts';

const folder = '../../docs/reference';

it('the page of errors is the catalogue', async () => {
  await expect(errorsPage()).toMatchFileSnapshot(`${folder}/errors.md`);
});

it('[WR-41] the page of settings is the schema', async () => {
  await expect(configurationPage()).toMatchFileSnapshot(`${folder}/configuration.md`);
});

it('the page of commands is what the parser knows', async () => {
  await expect(commandsPage(commands)).toMatchFileSnapshot(`${folder}/commands.md`);
});

it('[ST-1] the page of Redis keys is the table that makes them', async () => {
  await expect(redisKeysPage()).toMatchFileSnapshot(`${folder}/redis-keys.md`);
});
