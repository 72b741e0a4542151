import React, { useState as useIt, memo } from 'react';
import * as path from "node:path";
import './side.css';
const fs = require('fs'), { join: glue, resolve } = require("path");
const lazy = await import('./lazy.js');
export { one, two as three } from './again';

/**
 * Adds.
 * @param a first
 */
export const add = (a, b) => a + b;

function Point() {}
Point.prototype.norm = function (x) { if (x && this.y) return this.square(x); };
Point.prototype = { scale() {} };

module.exports = {
  load() { return fs.readFileSync(path.sep); },
  save: async (x) => { await store(x) },
  Point,
};
exports.util = function named() {};
module.exports = function start() {};

// Draws.
export default class Widget extends React.Component {
  #secret() {}
  static create = () => new Widget();
  handle = (e) => { for (const x of e) this.#secret(); }
  constructor(props) { super(props); }
  get size() { return 1; }
  render() { return <Panel a={1}><div/></Panel>; }
}
const api = { get: function () {}, nested: { post() {} } };
describe('widget', () => { it('works', function () { expect(1); }); function helper() {} });
let a = () => 1, b = function* () { yield memo(); };
