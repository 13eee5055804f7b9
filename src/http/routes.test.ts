/** How paths find their route. */
import { expect, test } from 'bun:test';
import { RouteTable } from './routes.ts';

function table(...routes: string[]): RouteTable<string> {
  const made = new RouteTable<string>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    made.add(method, path, route);
  }
  return made;
}

const found = (routes: RouteTable<string>, method: string, path: string) => {
  const match = routes.match(method, path);
  return match.found === 'route' ? match.value : match.found;
};

test('a path matches whole, case sensitive, with or without a trailing slash', () => {
  const routes = table('GET /v1/scim/groups', 'GET /v1/scim/Groups');
  expect(found(routes, 'GET', '/v1/scim/groups')).toBe('GET /v1/scim/groups');
  expect(found(routes, 'GET', '/v1/scim/Groups/')).toBe('GET /v1/scim/Groups');
  expect(found(routes, 'GET', '/v1/SCIM/groups')).toBe('nothing');
  expect(found(routes, 'GET', '/v1/scim')).toBe('nothing');
  expect(found(routes, 'GET', '/v1/scim/groups/more')).toBe('nothing');
  expect(found(routes, 'GET', '/v1/scim/groups//')).toBe('nothing');
  expect(found(routes, 'GET', '//v1/scim/groups')).toBe('nothing');
});

test('a fixed segment wins over a parameter, and the parameter is tried when it leads nowhere', () => {
  const routes = table('GET /keys/:id', 'GET /keys/service', 'GET /keys/service/list', 'POST /keys/:id/rotate');
  expect(found(routes, 'GET', '/keys/service')).toBe('GET /keys/service');
  expect(found(routes, 'GET', '/keys/other')).toBe('GET /keys/:id');
  expect(found(routes, 'POST', '/keys/service/rotate')).toBe('POST /keys/:id/rotate');
});

test('parameters are decoded; a broken escape stays as it is, and an empty one matches nothing', () => {
  const routes = table('GET /a/:first/b/:second');
  expect(routes.match('GET', '/a/x%20y/b/%C3%A9')).toEqual({
    found: 'route',
    value: 'GET /a/:first/b/:second',
    params: { first: 'x y', second: 'é' },
  });
  expect(found(routes, 'GET', '/a//b/z')).toBe('nothing');
  expect(routes.match('GET', '/a/%E0%A4%A/b/z')).toMatchObject({ params: { first: '%E0%A4%A', second: 'z' } });
});

test('parameters of a way that was tried in vain are not left behind', () => {
  const routes = table('GET /:kind/:id/edit', 'GET /users/:name');
  expect(routes.match('GET', '/users/ada')).toMatchObject({ params: { name: 'ada' } });
  expect(routes.match('GET', '/users/ada/edit')).toEqual({
    found: 'route',
    value: 'GET /:kind/:id/edit',
    params: { kind: 'users', id: 'ada' },
  });
});

test('a last segment with a star takes the rest of the path, slashes included', () => {
  const routes = table('GET /models/:provider/*model', 'GET /models/:provider/default', 'GET /models/:provider/:id/x');
  expect(routes.match('GET', '/models/ours/meta/llama%203:free/')).toEqual({
    found: 'route',
    value: 'GET /models/:provider/*model',
    params: { provider: 'ours', model: 'meta/llama 3:free' },
  });
  expect(found(routes, 'GET', '/models/ours/default')).toBe('GET /models/:provider/default');
  expect(found(routes, 'GET', '/models/ours/default/more')).toBe('GET /models/:provider/*model');
  expect(found(routes, 'GET', '/models/ours/some/x')).toBe('GET /models/:provider/:id/x');
  expect(routes.match('GET', '/models/ours/some/y')).toMatchObject({
    params: { provider: 'ours', model: 'some/y' },
  });
  expect(found(routes, 'GET', '/models/ours')).toBe('nothing');
  expect(found(routes, 'GET', '/models/ours/')).toBe('nothing');
  expect(found(routes, 'GET', '/models/ours/%E0%A4%A')).toBe('GET /models/:provider/*model');
});

test('the names of objects’ own parts are ordinary segments', () => {
  const routes = table('GET /:id');
  expect(routes.match('GET', '/__proto__')).toMatchObject({ found: 'route', params: { id: '__proto__' } });
  expect(found(routes, 'GET', '/constructor')).toBe('GET /:id');
});

test('a known path with another method tells which methods there are', () => {
  const match = table('GET /a', 'PUT /a').match('POST', '/a');
  expect(match).toEqual({ found: 'other-methods', methods: ['GET', 'PUT'] });
});

test('a route declared twice, or a parameter with two names, is a mistake found at start', () => {
  expect(() => table('GET /a', 'GET /a/')).toThrow('declared twice');
  expect(() => table('GET /a/:id', 'GET /a/:name/b')).toThrow(':id');
  expect(() => table('GET /a/*rest', 'POST /a/*more')).toThrow('*rest');
  expect(() => table('GET /a/*rest/b')).toThrow('last');
});
